import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'

/** By these an operator finds a run: ProjectId, CampaignId, AutomationId, ContactId. */
export const keywords = (values: Record<string, string>) =>
	Object.entries(values).map(([name, value]) => ({
		key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
		value,
	}))
