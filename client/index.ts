export type * from './api.ts'
export { Tempost } from './client.ts'
export { type ClientErrorCode, TempostError } from './errors.ts'
export type { Job, WaitOptions } from './jobs.ts'
export type {
	ChangeOptions,
	FileInput,
	Paged,
	ReactElement,
	RequestOptions,
	TempostOptions,
	WithReact,
} from './options.ts'
export { type WebhookHeaders, webhooks } from './webhooks.ts'
