import PostalMime, { decodeWords } from 'postal-mime'
import { setFilesAside } from './mailbox-files.ts'
import { isClickTracked, isOpenTracked } from './tracked-links.ts'

/** A mail read back from its source, as a mail program would: what it shows is what was sent. */
export async function readMail(raw: Buffer) {
	const { rest, contents } = setFilesAside(raw)
	const mail = await PostalMime.parse(rest, { attachmentEncoding: 'arraybuffer' })
	const files = mail.attachments.map(({ filename, mimeType, disposition, content, contentId }) => ({
		filename: filename ?? 'unnamed',
		contentType: mimeType,
		contentId: contentId?.replace(/^<|>$/g, ''),
		content:
			(disposition === 'attachment' && contents.shift()) || Buffer.from(content as ArrayBuffer),
	}))
	const html = mail.html ?? ''
	return {
		cc: (mail.cc ?? []).flatMap(({ address }) => address ?? []),
		html,
		opensTracked: isOpenTracked(html),
		clicksTracked: isClickTracked(html),
		text: mail.text ?? '',
		headers: Object.fromEntries(
			mail.headers.map(({ originalKey, value }) => [originalKey, decodeWords(value)]),
		),
		attachments: files.map(({ filename, contentType, content }) => ({
			filename,
			contentType,
			size: content.length,
		})),
		files,
	}
}

/** Without the contents of its files. */
export async function describeMail(raw: Buffer) {
	const { files: _, ...mail } = await readMail(raw)
	return mail
}

/** Null: the mail has no file at this position. */
export async function fileOfMail(raw: Buffer, position: number) {
	const { files } = await readMail(raw)
	return files[position] ?? null
}

export type ReadMail = Awaited<ReturnType<typeof readMail>>
export type DescribedMail = Awaited<ReturnType<typeof describeMail>>
