/** Goes to another page of the console as if its link had been clicked. */
export function navigate(href: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Fetches a file as if its link had been clicked. */
export function download(href: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = "";
  link.setAttribute("f-client-nav", "false");
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}
