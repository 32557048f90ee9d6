/** The version of the API's document. */
export const apiVersion = '1.0.0'

/** For programs that ask for the address of the service itself: what it is, and where to go on. */
export const serviceCard = (publicUrl: string) => ({
	name: 'Tempost',
	version: apiVersion,
	docs: `${publicUrl}/docs`,
	openapi: `${publicUrl}/openapi.json`,
	health: `${publicUrl}/health`,
})

/** Browsers ask for HTML by name. A program that accepts anything gets JSON. */
export const asksForHtml = (accept: string | undefined) =>
	accept !== undefined && /(^|,)\s*text\/html\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(accept)
