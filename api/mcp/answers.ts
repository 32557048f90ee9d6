// The members of our routes' answers that tools use.

export interface CursorPage<Item> {
	data: Item[]
	cursor?: string
	hasMore: boolean
	total: number
}
export interface CountedPage<Item> extends CursorPage<Item> {
	isCounted: boolean
}
export interface Page<Item> {
	data: Item[]
	page: number
	total: number
	totalPages: number
}
export interface Mail {
	id: string
	contactId: string | null
	to: string
	from: string
	fromName: string | null
	subject: string
	body: string | null
	sourceType: string
	templateId: string | null
	campaignId: string | null
	workflowExecutionId: string | null
	status: string
	possibleRepeat: boolean
	error: string | null
	sentAt: string | null
	deliveredAt: string | null
	openedAt: string | null
	clickedAt: string | null
	bouncedAt: string | null
	complainedAt: string | null
	opens: number
	clicks: number
	createdAt: string
	scheduledFor?: string | null
}
export interface MailWithAttempts extends Mail {
	attempts: {
		at: string
		outcome: string
		provider: string | null
		error: string | null
	}[]
}
export interface Contact {
	id: string
	email: string
	subscribed: boolean
	data: Record<string, unknown>
	createdAt: string
	updatedAt: string
}
export interface Suppression {
	email: string
	reason: string
	emailId: string | null
	createdAt: string
}
export interface Segment {
	id: string
	name: string
	description: string | null
	type: string
	condition: unknown
	trackMembership: boolean
	memberCount: number
	updatedAt: string
}
export interface Campaign {
	id: string
	name: string
	description: string | null
	subject: string
	body: string
	from: string
	fromName: string | null
	replyTo: string | null
	type: string
	language: string | null
	templateId: string | null
	status: string
	audienceType: string
	audienceCondition: unknown
	segmentId: string | null
	scheduledFor: string | null
	totalRecipients: number
	sentCount: number
	pausedAt: string | null
	pausedReason: string | null
	cancelledReason: string | null
	sentAt: string | null
	createdAt: string
	updatedAt: string
}
