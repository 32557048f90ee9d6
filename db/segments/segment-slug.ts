// Letters that are no ASCII letter with a mark on it, and are written with ASCII letters all the same.
const foldings: Record<string, string> = {
	ß: 'ss',
	æ: 'ae',
	œ: 'oe',
	ø: 'o',
	đ: 'd',
	ð: 'd',
	þ: 'th',
	ł: 'l',
	ħ: 'h',
	ı: 'i',
}

/** The middle of `segment.<slug>.entry`. A name without a letter or digit leaves the id. */
export function slugOf({ id, name }: { id: string; name: string }) {
	const folded = Array.from(name.normalize('NFC').toLowerCase(), folding).join('')
	const slug = folded.replaceAll(/[^\p{L}\p{M}\p{Nd}_]+/gu, '-').replaceAll(/^-+|-+$/g, '')
	return slug === '' ? id : slug
}

/** Marks go from Latin letters only: й without its mark would be another letter. */
function folding(letter: string) {
	const plain = letter.normalize('NFKD').replaceAll(/\p{M}/gu, '')
	return foldings[letter] ?? (/^[\x20-\x7e]+$/.test(plain) ? plain.toLowerCase() : letter)
}
