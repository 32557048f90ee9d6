import type { Contact } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import type { Moment } from '../parts/timeline.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'
import { useMomentOf } from './activity-moment.tsx'
import { History } from './history.tsx'

/** Mails, events, workflows and changes, merged by time. */
export function EverythingOf({ contact }: { contact: Contact }) {
	const { project, api } = useProject()
	const momentOf = useMomentOf()
	const { list } = useCursorList({
		key: [project.id, 'contacts', contact.id, 'activity'],
		load: (cursor) =>
			api.activity.list({
				contactId: contact.id,
				startDate: contact.createdAt,
				limit: 50,
				...(cursor && { cursor }),
			}),
		liveMs: liveMs.normal,
	})
	const created: Moment = { at: contact.createdAt, title: 'The contact was created' }
	const moments = list.rows && [...list.rows.map(momentOf), ...(list.more ? [] : [created])]
	return <History {...list} moments={moments} none="Nothing happened yet." />
}
