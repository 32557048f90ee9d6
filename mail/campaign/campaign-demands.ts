import { hasMarks, markIndexes } from './campaign-shape.ts'
import { opensTag, skipTag } from '../text/tags.ts'
import { bareLink, toText } from '../text/text.ts'

/** The condition on a value under which the mail around it stays the same as for any other value. */
export interface Demand {
	index: number
	fits: RegExp
}

/** Excludes words that hide an element (`isHidden`) and spaces, which would start an attribute. */
const inAddress = /^(?!.*(?:hidden|display|-skip-))\S+$/i
/** Excludes signs that would turn the word before them into an attribute (`isDesigned`). */
const inWords = /^(?!.*(?:hidden|display|-skip-))[^=]+$/i
const addressLike = /[./:]/
const notAddressLike = /^[^./:]+$/

/**
 * The conditions that a body with marks puts on the values in their places. Null if a value affects more
 * than its own place: in a tag's name, in half an entity, in the host of a link.
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

	/** Whether a link's text shows its target must not depend on values. */
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

/** The kind and owner of a link must not depend on values, and a link contains no space. */
const isAddress = (value: string) =>
	/^(?:https?:\/\/[^/?#\s\ue000]+[/?#]|mailto:|tel:|[#?/])/i.test(value) && !/\s/.test(value)

const stem = (text: string) => text.split('\ue000', 1)[0]!
