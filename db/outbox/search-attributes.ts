import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'

/** Operators find runs by these. Executions set the last two themselves, at each stop. */
export const searchAttributes = {
	ProjectId: 'Keyword',
	CampaignId: 'Keyword',
	AutomationId: 'Keyword',
	ContactId: 'Keyword',
	CurrentStep: 'Keyword',
	WaitingSince: 'Datetime',
} as const

/** Temporal's type numbers. */
export const attributeTypes = { Keyword: 2, Datetime: 6 } as const

export const keywords = (values: Record<string, string>) =>
	Object.entries(values).map(([name, value]) => ({
		key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
		value,
	}))
