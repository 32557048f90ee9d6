import { useQuery } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import { ScaledMail } from '../editor/scaled-mail.tsx'
import { Fault } from '../parts/fault.tsx'
import { Facts } from '../parts/figures.tsx'
import { inWords } from '../parts/badge.tsx'
import { Columns } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'

/** The mail that was sent, without the data of a contact. */
export function CampaignMail({ campaign }: { campaign: Campaign }) {
	const { project, api } = useProject()
	const { id, subject, body, type, language } = campaign
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'campaigns', 'mail', id],
		queryFn: () => api.templates.previewContent({ subject, body, type, language }),
		staleTime: Infinity,
	})
	return (
		<Columns>
			<Facts
				facts={[
					['Subject', subject],
					['From', campaign.fromName ? `${campaign.fromName} <${campaign.from}>` : campaign.from],
					['Replies go to', campaign.replyTo],
					['Type', inWords(type)],
					['Note', campaign.description],
				]}
			/>
			{data ? (
				<ScaledMail html={data.html} width={640} />
			) : error ? (
				<Fault error={error} retry={() => void refetch()} />
			) : (
				<Waiting rows={8} />
			)}
		</Columns>
	)
}
