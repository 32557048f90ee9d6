import { bufferOf } from '../../mail/threads/buffer-of.ts'
import { performLarge } from '../send/large-send.ts'
import { readBounceReport } from '../reputation/bounce-report.ts'

// What requests decide the cost of, done where it holds up nobody else.

export const tasks = {
	send: performLarge,
	bounceReport: (raw: Uint8Array) => readBounceReport(bufferOf(raw)),
}

export type ApiTasks = typeof tasks
