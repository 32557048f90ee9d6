// The names of U+00A0 to U+00FF, in their order.
const latin1 =
	'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn ' +
	'sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave ' +
	'Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ' +
	'ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN ' +
	'szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute ' +
	'icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml ' +
	'yacute thorn yuml'

// The names of other ASCII characters, which editors use in addresses of links too.
const ascii: Record<string, string> = {
	Tab: '\t',
	NewLine: '\n',
	excl: '!',
	num: '#',
	dollar: '$',
	percnt: '%',
	lpar: '(',
	rpar: ')',
	ast: '*',
	plus: '+',
	comma: ',',
	period: '.',
	sol: '/',
	colon: ':',
	semi: ';',
	equals: '=',
	quest: '?',
	commat: '@',
	lsqb: '[',
	bsol: '\\',
	rsqb: ']',
	Hat: '^',
	lowbar: '_',
	grave: '`',
	lcub: '{',
	verbar: '|',
	rcub: '}',
}

const others: Record<string, string> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
	OElig: 'Œ',
	oelig: 'œ',
	Scaron: 'Š',
	scaron: 'š',
	Yuml: 'Ÿ',
	fnof: 'ƒ',
	ensp: ' ',
	emsp: ' ',
	thinsp: ' ',
	zwnj: '\u200c',
	zwj: '\u200d',
	lrm: '\u200e',
	rlm: '\u200f',
	ndash: '–',
	mdash: '—',
	lsquo: '‘',
	rsquo: '’',
	sbquo: '‚',
	ldquo: '“',
	rdquo: '”',
	bdquo: '„',
	dagger: '†',
	Dagger: '‡',
	bull: '•',
	hellip: '…',
	permil: '‰',
	prime: '′',
	Prime: '″',
	lsaquo: '‹',
	rsaquo: '›',
	euro: '€',
	trade: '™',
	larr: '←',
	uarr: '↑',
	rarr: '→',
	darr: '↓',
	harr: '↔',
	minus: '−',
	le: '≤',
	ge: '≥',
	ne: '≠',
	infin: '∞',
	check: '✓',
	star: '☆',
	hearts: '♥',
}

const named = new Map([
	...Object.entries(ascii),
	...Object.entries(others),
	...latin1.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
])

/** By the numbers from 128 to 159, which browsers read as signs of Windows. Old editors write them. */
const windows = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

const characterOf = (code: number) => windows[code - 128] ?? String.fromCodePoint(code)

/** Decodes the entities that mails use. Unknown ones stay as they are. */
export function decodeEntities(text: string): string {
	if (!text.includes('&')) return text
	return text.replaceAll(
		/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,9}));?/g,
		(entity, decimal?: string, hex?: string, name?: string) => {
			if (name !== undefined) return (entity.endsWith(';') && named.get(name)) || entity
			const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
			const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
			return isCharacter ? characterOf(code) : ''
		},
	)
}
