import { useQuery } from '@tanstack/react-query'
import { liveMs } from '../client.ts'
import { useDeliveryNote } from '../emails/delivery-note.ts'
import { Fault } from '../parts/fault.tsx'
import { Figures, formatPercent } from '../parts/figures.tsx'
import { Section } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
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
	return (
		<Section title="The last 30 days">
			{data ? (
				<Figures
					figures={[
						{ name: 'Sent', value: data.totalEmailsSent },
						{ name: 'Delivered', value: data.totalEmailsDelivered, about: note },
						{ name: 'Opened', value: data.totalEmailsOpened, about: formatPercent(data.openRate) },
						{
							name: 'Clicked',
							value: data.totalEmailsClicked,
							about: formatPercent(data.clickRate),
						},
						{ name: 'Bounced', value: data.totalEmailsBounced },
						{ name: 'Spam reports', value: data.totalEmailsComplained },
					]}
				/>
			) : error ? (
				<Fault error={error} />
			) : (
				<Waiting rows={2} />
			)}
		</Section>
	)
}
