import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { mailboxTasks } from '../mailbox/mailbox-tasks.ts'
import { composeMail } from '../emails/composed-mail.ts'
import { performLarge } from '../send/large-send.ts'
import { readBounceReport } from '../reputation/bounce-report.ts'

// Work whose cost the caller decides, on threads, so that it delays no other request.

export const tasks = {
	send: performLarge,
	composeMail,
	...mailboxTasks,
	bounceReport: (raw: Uint8Array) => readBounceReport(bufferOf(raw)),
}

export type ApiTasks = typeof tasks
