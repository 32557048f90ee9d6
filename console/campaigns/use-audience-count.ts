import { useQuery } from '@tanstack/react-query'
import { isComplete } from '../conditions/condition.ts'
import { usePaused, type Writing } from '../editor/writing.ts'
import { useProject } from '../shell/projects.ts'
import type { CampaignValues } from './campaign-values.ts'

/** How many contacts would get the campaign, as it is written. */
export function useAudienceCount(writing: Writing<CampaignValues>) {
	const { project, api } = useProject()
	const { type, ...values } = usePaused(writing)
	const audience = audienceOf(values)
	const query = useQuery({
		queryKey: [project.id, 'campaigns', 'audience', type, audience],
		queryFn: ({ signal }) => api.campaigns.countAudience({ ...audience!, type }, { signal }),
		enabled: audience !== null,
		placeholderData: (previous) => previous,
	})
	return { type, isComplete: audience !== null, data: query.data, error: query.error }
}

type Audience = Pick<CampaignValues, 'audienceType' | 'segmentId' | 'audienceCondition'>

/** Only the part that counts; null if it is not complete yet. */
function audienceOf({ audienceType, segmentId, audienceCondition }: Audience) {
	if (audienceType === 'ALL') return { audienceType }
	if (audienceType === 'SEGMENT') return segmentId ? { audienceType, segmentId } : null
	return audienceCondition && isComplete(audienceCondition)
		? { audienceType, audienceCondition }
		: null
}
