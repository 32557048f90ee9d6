import type { Campaign } from '../../client/index.ts'
import { type Content, contentOf } from '../editor/content.ts'

/** All of a campaign that its writer decides. */
export type CampaignValues = Content &
	Pick<Campaign, 'audienceType' | 'segmentId' | 'audienceCondition'>

export const valuesOf = (campaign: Campaign): CampaignValues => ({
	...contentOf(campaign),
	audienceType: campaign.audienceType,
	segmentId: campaign.segmentId,
	audienceCondition: campaign.audienceCondition,
})

/** Where its unsaved values are kept. */
export const draftOf = ({ id }: Campaign) => `campaign.${id}`
