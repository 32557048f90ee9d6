/**
 * `core` makes decisions, does database work and makes the first pass over single mails, `email` hands mail over,
 * `bulk` does long work on many rows, `webhooks` waits for customers' servers.
 */
export const taskQueues = {
	core: 'core',
	email: 'email',
	bulk: 'bulk',
	webhooks: 'webhooks',
} as const

/** The queue of one worker, for mails that it hands over as its share. */
export const emailQueueOf = (worker: string) => `${taskQueues.email}/${worker}`
