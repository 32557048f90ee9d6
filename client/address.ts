import { TempostError } from './errors.ts'

/** In `localhost:3000`, the name would be taken for a scheme. */
export const isOfTheWeb = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url)

/** A page in a browser may name a path of its own service. */
const isOfThisPage = (url: string) =>
	'location' in globalThis && (url === '' || url.startsWith('/'))

/** `fetch` would refuse it with the same error as if the service could not be reached. */
export function checkUrl(url: string) {
	if (isOfTheWeb(url) || isOfThisPage(url)) return
	throw new TempostError('BAD_REQUEST', `The address ${url} is not valid`, {
		suggestion: 'Begin it with https:// or http://, in `url` or TEMPOST_URL.',
	})
}
