import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { describeMail, readMail } from '../mailbox/mailbox-mail.ts'
import { type Preview, previewOf } from '../mailbox/mailbox-preview.ts'
import { performLarge } from '../send/large-send.ts'
import { readBounceReport } from '../reputation/bounce-report.ts'

// Work whose cost the caller decides, on threads, so that it delays no other request.

export const tasks = {
	send: performLarge,
	readMail,
	describeMail,
	previewMail: async ({ pieces, options }: { pieces: Uint8Array[]; options: Preview }) =>
		Buffer.from(previewOf(await readMail(pieces), options)),
	bounceReport: (raw: Uint8Array) => readBounceReport(bufferOf(raw)),
}

export type ApiTasks = typeof tasks
