// Addresses of tracking are recognised by their form, because a mail may be older than the current PUBLIC_URL.
// Their form is looked for within one address at a time: over the whole body it would take quadratic time.

const url = /https?:\/\/[^\s"'<>]+/g
const token = String.raw`[\w-]{43,64}\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`
const pixelUrl = new RegExp(String.raw`^.+\/o\/${token}`)
const clickUrl = new RegExp(String.raw`\/c\/${token}`)

export const isOpenTracked = (html: string) => hasUrl(html, pixelUrl)
export const isClickTracked = (html: string) => hasUrl(html, clickUrl)

function hasUrl(html: string, form: RegExp) {
	for (const [address] of html.matchAll(url)) if (form.test(address)) return true
	return false
}

/** The same body with another picture instead of the tracking pixel. */
export const withoutPixel = (html: string, picture: string) =>
	html.replaceAll(url, (address) => address.replace(pixelUrl, picture))
