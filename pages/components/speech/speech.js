// Says in which language the page is, once a person has chosen another than the one it was opened in.
export default function (component) {
  document.documentElement.lang = component.data.language
}
