// Keeps the draft of each conversation in the tab's own storage, and lets the address bar name what is shown.
// Streamlit's box tells the server nothing before it is sent, and loses its text when another page is drawn.
const PREFIX = "nexus.draft."
const tabs = new WeakMap()

function write(name, text) {
  try {
    if (text) sessionStorage.setItem(PREFIX + name, text)
    else sessionStorage.removeItem(PREFIX + name)
  } catch {
    // full, or forbidden by the browser: then the text lives as long as the page
  }
}

function read(name) {
  try {
    return sessionStorage.getItem(PREFIX + name) ?? ""
  } catch {
    return ""
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const field = () => (data.box ? document.querySelector(`.st-key-${CSS.escape(data.box)} textarea`) : null)
  const former = tabs.get(parentElement)
  const tab = former ?? { waiting: null, expected: "" }
  tabs.set(parentElement, tab)

  if (data.address && !new URLSearchParams(location.search).has("conversation")) {
    history.replaceState(history.state, "", `${location.pathname}?${data.address}`)
  }
  write(data.begunAs, "")
  if (data.waiting !== null) {
    write(data.name, data.waiting)
  } else if (tab.waiting !== null) {
    write(data.name, "")
  } else if (!former && data.box && read(data.name) && !field()?.value) {
    tab.expected = read(data.name)
    setTriggerValue("draft", tab.expected)
  }
  tab.waiting = data.waiting

  // The box as it is once Streamlit has done what a key or a click asks for; sending empties it without a word.
  tab.look = (before) => {
    const now = field()
    if (now?.value || before) tab.expected = ""
    if (now && !tab.expected) write(data.name, now.value)
  }
  tab.text = () => field()?.value
  if (former) return tab.end
  const soon = () => {
    const before = tab.text()
    setTimeout(() => tab.look(before), 0)
  }
  const last = () => tab.look(tab.text())
  const events = ["input", "keydown", "click"]
  events.forEach((event) => document.addEventListener(event, soon, true)) // before Streamlit
  window.addEventListener("pagehide", last)
  tab.end = () => {
    events.forEach((event) => document.removeEventListener(event, soon, true))
    window.removeEventListener("pagehide", last)
  }
  last() // what was typed before this script had come
  return tab.end
}
