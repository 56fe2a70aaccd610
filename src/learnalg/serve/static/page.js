// What htmx leaves: an answer that is no page, or none at all. Everything else works without this file.
const lost = () => document.getElementById("lost");
function say(text) { lost().textContent = text; lost().hidden = !text; }
addEventListener("htmx:sendError", () => say("The server does not answer. Is learnalg serve still running?"));
addEventListener("htmx:responseError", (event) => say(event.detail.xhr.responseText.slice(0, 400)));
addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) say(""); });
