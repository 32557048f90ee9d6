import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Campaign } from '../../client/index.ts'
import { isStatus } from '../client.ts'
import { type Draft, dropDraft, keepDraft, readDraft } from '../editor/drafts.ts'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Notice } from '../parts/notice.tsx'
import { useProject } from '../shell/projects.ts'
import { type CampaignValues, draftOf } from './campaign-values.ts'

/** A scheduled campaign may start while somebody writes on it. The text is kept, and can become a draft. */
export function UnsentChanges({ campaign }: { campaign: Campaign }) {
	const { id, status } = campaign
	const { project, api } = useProject()
	const navigate = useNavigate()
	const name = draftOf(campaign)
	const [draft, setDraft] = useState<Draft<CampaignValues>>()
	// The editor keeps its text when it goes: after the first rendering of this, and before its effects.
	useEffect(() => setDraft(readDraft<CampaignValues>(name)), [name])
	/** The campaign is copied once, however often the rest is tried. */
	const copied = useRef<Campaign>(undefined)
	const { mutate, isPending, error } = useMutation({
		async mutationFn(values: CampaignValues) {
			const copy = (copied.current ??= await api.campaigns.duplicate(id))
			const changed = { ...values, name: copy.name }
			try {
				await api.campaigns.update(copy.id, changed)
			} catch (fault) {
				if (!isStatus(fault, 422)) throw fault
				// Unfinished Liquid is refused. The copy's editor opens with it, unsaved.
				keepDraft(draftOf(copy), { values: changed, version: copy.updatedAt })
			}
			return copy.id
		},
		async onSuccess(campaignId) {
			dropDraft(name)
			await navigate({
				to: '/console/$projectId/campaigns/$campaignId',
				params: { projectId: project.id, campaignId },
				search: {},
			})
		},
	})
	if (!draft) return null
	function discard() {
		dropDraft(name)
		setDraft(undefined)
	}
	return (
		<Notice
			tone="warn"
			role="status"
			actions={
				<>
					<Button isBusy={isPending} onClick={() => mutate(draft.values)}>
						Make a draft of them
					</Button>
					<Button onClick={discard}>Discard them</Button>
				</>
			}
		>
			<p>
				<strong>
					{status === 'CANCELLED'
						? 'Your last changes were not saved before it was cancelled.'
						: 'It started before your last changes were saved.'}
				</strong>{' '}
				They are not sent.
			</p>
			<Fault error={error} />
		</Notice>
	)
}
