// The tab that the address names is there from the first frame, not after Configure's: a run's page is reached by
// `?run=<id>`, a comparison by `?compare=<id>,<id>`, another page by `?tab=<name>`. In the page's head, between what
// Gradio builds the page from and its modules.

{
  const asked = new URLSearchParams(window.location.search);
  const tab = asked.get("run") || asked.get("compare") ? "runs" : asked.get("tab");
  const parts = window.gradio_config.components;
  const pages = parts.find(({ props }) => props.elem_id === "pages");
  if (pages && parts.some(({ type, props }) => type === "tabitem" && props.id === tab)) pages.props.selected = tab;
}
