// What htmx leaves: the server is gone. Everything else works without this file.
addEventListener("htmx:sendError", () => { document.getElementById("lost").hidden = false; });
addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) document.getElementById("lost").hidden = true;
});
