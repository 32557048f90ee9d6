import type { CampaignRecord } from '../../db/campaigns/campaign-records.ts'
import type { AskRoute } from './route-calls.ts'

/** How many contacts a campaign would reach if it started now; null: counting takes too long. */
export async function reachOf(campaign: CampaignRecord, ask: AskRoute) {
	const { type, audienceType, segmentId, audienceCondition } = campaign
	const body = { type, audienceType, segmentId, audienceCondition }
	return (await ask<{ count: number | null }>('POST', '/campaigns/audience', { body })).count
}

export const hasStarted = ({ status }: CampaignRecord) =>
	status !== 'DRAFT' && status !== 'SCHEDULED'
