/** Allows the styles that a library writes into the page. The server makes a new one for each page. */
export const nonce =
	document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
