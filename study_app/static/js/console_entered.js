/** Takes the key out of the address of the page that signs in, so that no copy of the address has it: the form has the key. */
history.replaceState(null, "", location.pathname);

export {};
