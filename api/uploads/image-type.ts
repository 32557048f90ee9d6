/** The type of an image, by its content. Nothing else is served as an image. */
export const imageTypes = {
	png: 'image/png',
	jpg: 'image/jpeg',
	gif: 'image/gif',
	webp: 'image/webp',
} as const
export type ImageExtension = keyof typeof imageTypes

export function imageExtension(content: Buffer): ImageExtension | undefined {
	const ascii = (from: number, to: number) => content.toString('latin1', from, to)
	if (ascii(0, 8) === '\x89PNG\r\n\x1a\n' && ascii(12, 16) === 'IHDR') return 'png'
	if (ascii(0, 3) === '\xff\xd8\xff') return 'jpg'
	if (/^GIF8[79]a$/.test(ascii(0, 6))) return 'gif'
	if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP' && /^VP8[ LX]$/.test(ascii(12, 16)))
		return 'webp'
	return undefined
}
