// Says "now" every `seconds` while the tab can be seen, and at once when it is seen again after a longer time.
export default function (component) {
  const { data, setTriggerValue } = component
  const pause = data.seconds * 1000
  let last = Date.now()
  const look = () => {
    if (document.visibilityState === "visible" && Date.now() - last >= pause - 50) {
      last = Date.now()
      setTriggerValue("now", last)
    }
  }
  const timer = setInterval(look, pause)
  document.addEventListener("visibilitychange", look)
  return () => {
    clearInterval(timer)
    document.removeEventListener("visibilitychange", look)
  }
}
