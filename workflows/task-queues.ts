/**
 * `core` makes decisions, does database work and makes the first pass over single mails, `email` hands mail over,
 * `bulk` does long work on many rows, `moves` are those of executions whose project has many slow ones. `webhooks` and
 * `calls` wait for customers' servers: `webhooks` for those of endpoints, `calls` for those of WEBHOOK steps.
 */
export const taskQueues = {
	core: 'core',
	email: 'email',
	bulk: 'bulk',
	moves: 'moves',
	webhooks: 'webhooks',
	calls: 'calls',
} as const

/** The queue of one worker, for mails that it hands over as its share. */
export const emailQueueOf = (worker: string) => `${taskQueues.email}/${worker}`
