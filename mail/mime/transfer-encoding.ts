const equals = 61
const space = 32
const tab = 9
const dot = 46
const carriageReturn = 13
const lineFeed = 10
const hexDigits = Buffer.from('0123456789ABCDEF')
// One less than allowed, because any character may need the `=` of a soft break after it.
const maxColumn = 75
const base64Column = 76

/** Text as quoted-printable UTF-8, with every line break as CRLF and no code point split. */
export function quotedPrintable(text: string): Buffer {
	const input = Buffer.from(text)
	// The worst case: three characters per byte, and a soft break after every eight bytes.
	const output = Buffer.allocUnsafe(input.length * 3 + Math.ceil(input.length / 6) * 3 + 3)
	let at = 0
	let column = 0
	for (let i = 0; i < input.length; i++) {
		const byte = input[i]!
		if (byte === lineFeed || byte === carriageReturn) {
			if (byte === carriageReturn && input[i + 1] === lineFeed) i++
			output[at++] = carriageReturn
			output[at++] = lineFeed
			column = 0
			continue
		}
		const literal =
			(byte > space && byte < 127 && byte !== equals) ||
			((byte === space || byte === tab) && !endsLine(input[i + 1]))
		const width = literal ? 1 : 3 * sequenceLength(byte)
		if (column + width > maxColumn) {
			output[at++] = equals
			output[at++] = carriageReturn
			output[at++] = lineFeed
			column = 0
		}
		// A dot at the start of a line would have to be doubled for SMTP (RFC 5321, 4.5.2).
		if (literal && (byte !== dot || column > 0)) {
			output[at++] = byte
			column++
		} else {
			output[at++] = equals
			output[at++] = hexDigits[byte >> 4]!
			output[at++] = hexDigits[byte & 15]!
			column += 3
		}
	}
	return output.subarray(0, at)
}

/** Base64 in lines of 76 characters. */
export function base64Lines(content: Buffer): Buffer {
	const encoded = Buffer.from(content.toString('base64'), 'latin1')
	const lineCount = Math.ceil(encoded.length / base64Column)
	const output = Buffer.allocUnsafe(encoded.length + lineCount * 2)
	let at = 0
	for (let i = 0; i < encoded.length; i += base64Column) {
		at += encoded.copy(output, at, i, i + base64Column)
		output[at++] = carriageReturn
		output[at++] = lineFeed
	}
	return output
}

/** The length of this many bytes in such lines. */
export function base64LinesSize(bytes: number) {
	const length = Math.ceil(bytes / 3) * 4
	return length + Math.ceil(length / base64Column) * 2
}

function endsLine(next: number | undefined) {
	return next === undefined || next === carriageReturn || next === lineFeed
}

/** The length of the code point that starts here. Its following bytes have their room reserved already. */
function sequenceLength(byte: number) {
	if (byte < 0xc0) return 1
	if (byte < 0xe0) return 2
	return byte < 0xf0 ? 3 : 4
}
