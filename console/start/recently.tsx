import { useQuery } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { useDeliveryNote } from '../emails/delivery-note.ts'
import { Fault } from '../parts/fault.tsx'
import { Figures, formatPercent } from '../parts/figures.tsx'
import { Section } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'

/** The figures of the last thirty days. */
export function Recently() {
	const { project, api } = useProject()
	const { data, error } = useQuery({
		queryKey: [project.id, 'recently'],
		queryFn: () => api.activity.stats(),
		refetchInterval: liveMs.slow,
	})
	const note = useDeliveryNote(data?.totalEmailsDelivered ?? 0)
	const percentOf = (share: number | undefined) =>
		share === undefined ? '–' : formatPercent(share)
	return (
		<Section title="The last 30 days">
			{error && !data ? (
				<Fault error={error} />
			) : (
				// Until they are known, the figures keep the room that they will need.
				<Figures
					figures={[
						{ name: 'Sent', value: data?.totalEmailsSent },
						{ name: 'Delivered', value: data?.totalEmailsDelivered, about: note },
						{ name: 'Opened', value: data?.totalEmailsOpened, about: percentOf(data?.openRate) },
						{ name: 'Clicked', value: data?.totalEmailsClicked, about: percentOf(data?.clickRate) },
						{ name: 'Bounced', value: data?.totalEmailsBounced },
						{ name: 'Spam reports', value: data?.totalEmailsComplained },
					]}
				/>
			)}
		</Section>
	)
}
