/**
 * `core` makes decisions and does database work, `email` hands mail over, `bulk` does long work on many
 * rows, `webhooks` waits for customers' servers.
 */
export const taskQueues = {
	core: 'core',
	email: 'email',
	bulk: 'bulk',
	webhooks: 'webhooks',
} as const
