// Says something without leaving the page. Without this the form is sent as any other.
export function talk(form) {
  const field = form.querySelector("textarea");
  const button = form.querySelector("button");
  const busy = document.getElementById("busy");
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    busy.textContent = "It is being done …";
    try {
      let answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { accept: "text/html" } });
      // What takes long is answered elsewhere: it is waited for there.
      while (answer.status === 202) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        answer = await fetch(answer.url, { headers: { accept: "text/html" } });
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector(".split");
      if (!fresh) throw new Error(page.querySelector(".problem p")?.textContent ?? `the server said ${answer.status}`);
      if (answer.redirected) history.replaceState(null, "", answer.url);
      document.querySelector(".split").replaceWith(fresh);
      document.querySelectorAll("form[data-talk]").forEach(talk);
      document.getElementById("last")?.scrollIntoView({ block: "start" });
      document.getElementById("message")?.focus({ preventScroll: true });
    } catch (error) {
      busy.textContent = `It was not sent: ${error.message}. Nothing is lost; send it again.`;
      button.disabled = false;
    }
  });
}
