import { useState } from 'react'
import type { Campaign } from '../../client/index.ts'
import { ContentEditor } from '../editor/content-editor.tsx'
import { readDraft } from '../editor/drafts.ts'
import { usePerson } from '../editor/person.ts'
import { SaveButton, Unsaved } from '../editor/save-button.tsx'
import { SaveNotices } from '../editor/save-notices.tsx'
import { TestDialog } from '../editor/test-dialog.tsx'
import { useKeptDraft } from '../editor/use-kept-draft.ts'
import { useSaveKey } from '../editor/use-save-key.ts'
import { Writing } from '../editor/writing.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Page, Section, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { AudienceChoice } from './audience-choice.tsx'
import { CampaignMenu } from './campaign-menu.tsx'
import { type CampaignValues, draftOf, valuesOf } from './campaign-values.ts'
import { CampaignsLink } from './campaigns-link.tsx'
import { ScheduledNotice } from './scheduled-notice.tsx'
import { SendDialog } from './send-dialog.tsx'
import { useCampaignSaving } from './use-campaign-saving.ts'

interface Props {
	campaign: Campaign
	onReload: () => void
}

/** A campaign that has not started: its audience and its mail. */
export function CampaignWriting({ campaign, onReload }: Props) {
	const { api } = useProject()
	const [writing] = useState(() => {
		const id = draftOf(campaign)
		const draft = readDraft<CampaignValues>(id)
		return new Writing(id, valuesOf(campaign), campaign.updatedAt, draft)
	})
	const person = usePerson()
	const [open, setOpen] = useState<'test' | 'send' | null>(null)
	const { save, saveOver, saveNow, isSaving, error } = useCampaignSaving(writing, campaign)
	useKeptDraft(writing)
	useSaveKey(save)
	const close = () => setOpen(null)

	async function sendTest(email: string) {
		if (writing.isChanged) await saveNow()
		return api.campaigns.test(campaign.id, { email, data: person.data })
	}
	return (
		<Page
			title={campaign.name}
			back={<CampaignsLink />}
			about={
				<>
					<Status status={campaign.status} />
					<Unsaved writing={writing} />
				</>
			}
			actions={
				<>
					<SaveButton kind="plain" writing={writing} onSave={save} isBusy={isSaving} />
					<Button onClick={() => setOpen('test')}>Send test</Button>
					<Button kind="primary" onClick={() => setOpen('send')}>
						{campaign.status === 'SCHEDULED' ? 'Reschedule' : 'Send…'}
					</Button>
					<CampaignMenu campaign={campaign} />
				</>
			}
		>
			<Stack>
				<SaveNotices
					noun="campaign"
					error={error}
					work={writing}
					onOverwrite={saveOver}
					onReload={onReload}
				/>
				{campaign.status === 'SCHEDULED' && <ScheduledNotice campaign={campaign} />}
			</Stack>
			<Section title="Audience">
				<AudienceChoice writing={writing} error={error} />
			</Section>
			<Section title="Mail">
				<Stack>
					<ContentEditor writing={writing} person={person} error={error} />
				</Stack>
			</Section>
			<TestDialog
				field="email"
				isOpen={open === 'test'}
				onClose={close}
				isChanged={writing.isChanged}
				send={sendTest}
			/>
			<SendDialog
				campaign={campaign}
				writing={writing}
				saveNow={saveNow}
				isOpen={open === 'send'}
				onClose={close}
				onReload={onReload}
			/>
		</Page>
	)
}
