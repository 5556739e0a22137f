// Passkeys: the browser asks for a fingerprint, face or PIN, and signs the challenge of the
// server. A form with data-passkey has the address of the challenge; the signature is sent
// with the form. Without this file the form stays hidden, and the page says why.
"use strict";

{
  const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const decodeIDs = (list = []) => list.map((c) => ({ ...c, id: decode(c.id) }));

  const ask = async (options) => {
    options.challenge = decode(options.challenge);
    if (!options.user) return navigator.credentials.get({ publicKey: { ...options, allowCredentials: decodeIDs(options.allowCredentials) } });
    options.user.id = decode(options.user.id);
    return navigator.credentials.create({ publicKey: { ...options, excludeCredentials: decodeIDs(options.excludeCredentials) } });
  };

  // answer is the JSON of a credential, which not every browser can make.
  const answer = ({ id, rawId, type, response: from }) => {
    const response = {};
    for (const part of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (from[part]) response[part] = encode(from[part]);
    }
    if (from.getTransports) response.transports = from.getTransports();
    return JSON.stringify({ id, rawId: encode(rawId), type, response });
  };

  const show = () => {
    for (const e of $$(window.PublicKeyCredential ? "form[data-passkey]" : "[data-no-passkeys]")) e.hidden = false;
  };
  show();
  document.addEventListener("refreshed", show);

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!("passkey" in form.dataset) || form.elements.answer.value) return;
    event.preventDefault();
    const problem = $("[data-problem]", form);
    problem.hidden = true;
    let said = form.dataset.failed;
    try {
      const response = await fetch(form.dataset.passkey, { headers: { Accept: "application/json" } });
      if (response.ok && !response.redirected) {
        form.elements.answer.value = answer(await ask(await response.json()));
        submit(form, event.submitter);
        form.elements.answer.value = ""; // its challenge counts once
        return;
      }
    } catch (error) {
      said = { NotAllowedError: form.dataset.cancelled, InvalidStateError: form.dataset.again }[error.name] ?? said;
    }
    problem.textContent = said;
    problem.hidden = false;
    event.submitter?.removeAttribute("aria-busy");
  });
}
