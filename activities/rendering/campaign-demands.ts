import { hasMarks, markIndexes } from './campaign-shape.ts'
import { opensTag, skipTag } from './tags.ts'
import { bareLink, toText } from './text.ts'

/** What a value must be like, so that the mail around it is the same as for any other. */
export interface Demand {
	index: number
	fits: RegExp
}

/** No word by which an element is hidden (`isHidden`), no space that would begin an attribute. */
const inAddress = /^(?!.*(?:hidden|display|-skip-))\S+$/i
/** No sign that would make an attribute of the word before it (`isDesigned`). */
const inWords = /^(?!.*(?:hidden|display|-skip-))[^=]+$/i
const addressLike = /[./:]/
const notAddressLike = /^[^./:]+$/

/**
 * What a body with marks asks of the values in their places, or null if one stands where it decides
 * about more than itself: in a tag's name, half an entity, the host of a link.
 */
export function demandsOn(marked: string): Demand[] | null {
	const demands: Demand[] = []
	let isSafe = !/<[/!?]?\ue000|&[#\w]*\ue000/.test(marked)

	const demand = (text: string, fits: RegExp) => {
		for (const index of markIndexes(text)) demands.push({ index, fits })
	}

	for (let begin = marked.indexOf('<'); begin >= 0 && isSafe;) {
		const end = opensTag(marked, begin) ? skipTag(marked, begin) : begin + 1
		const tag = marked.slice(begin, end)
		if (hasMarks(tag)) isSafe = tag.startsWith('<!') ? !tag.includes('<', 1) : look(tag)
		begin = marked.indexOf('<', end)
	}
	if (isSafe) toText(marked, (text, url) => (isSafe &&= compare(text, url)))
	return isSafe ? demands : null

	function look(tag: string) {
		let isKnown = true
		const rest = tag.replaceAll(
			/\s(href|src|alt|title)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi,
			(all, attribute: string, one?: string, other?: string) => {
				const value = one ?? other ?? ''
				if (!hasMarks(value)) return all
				if (/^(?:alt|title)$/i.test(attribute)) demand(value, inWords)
				else {
					demand(value, inAddress)
					isKnown &&= isAddress(value)
				}
				return ''
			},
		)
		return isKnown && !hasMarks(rest)
	}

	/** Whether a link shows where it leads must not depend on values. */
	function compare(text: string, url: string) {
		if (!hasMarks(text) && !hasMarks(url)) return true
		const [shown, address] = [bareLink(text), bareLink(url)]
		if (shown === address) return true
		const [a, b] = [stem(shown), stem(address)]
		const common = Math.min(a.length, b.length)
		if (a.slice(0, common) !== b.slice(0, common)) return true
		if (/\s/.test(url)) return false
		if (/\s/.test(shown)) return true
		if (addressLike.test(shown)) return false
		demand(shown, notAddressLike)
		if (!addressLike.test(address)) demand(address, addressLike)
		return true
	}
}

/** What kind of link it is, and whose, does not depend on values, and no space is within it. */
const isAddress = (value: string) =>
	/^(?:https?:\/\/[^/?#\s\ue000]+[/?#]|mailto:|tel:|[#?/])/i.test(value) && !/\s/.test(value)

const stem = (text: string) => text.split('\ue000', 1)[0]!
