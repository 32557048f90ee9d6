// Letters that are not an ASCII letter with a diacritic, but have a spelling in ASCII.
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

/** The middle of `segment.<slug>.entry`. A name without letters or digits becomes the id. */
export function slugOf({ id, name }: { id: string; name: string }) {
	const folded = Array.from(name.normalize('NFC'), folding).join('').toLowerCase()
	const slug = folded.replaceAll(/[^\p{L}\p{M}\p{Nd}_]+/gu, '-').replaceAll(/^-+|-+$/g, '')
	return slug === '' ? id : slug
}

/** Only Latin letters lose their diacritics: й without its breve would be another letter. */
function folding(letter: string) {
	const plain = letter.normalize('NFKD').replaceAll(/\p{M}/gu, '')
	return (
		foldings[letter.toLowerCase()] ?? (/^[\x20-\x7e]+$/.test(plain) ? plain.toLowerCase() : letter)
	)
}
