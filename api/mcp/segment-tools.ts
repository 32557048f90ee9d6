import Type from 'typebox'
import { containing } from '../../db/like.ts'
import { outlineSegments } from '../../db/segments/segment-records.ts'
import { invalid } from '../errors.ts'
import { about, Id } from '../schemas.ts'
import type { Contact, Page, Segment } from './answers.ts'
import { briefData, counted, only, viewed } from './brief.ts'
import { condition } from './condition-input.ts'
import { briefContact } from './people.ts'
import { path } from './route-calls.ts'
import { defineTool, reading, type ToolContext } from './tool.ts'

const mostListed = 100

export const listSegments = defineTool({
	name: 'list_segments',
	title: 'List segments',
	description:
		'Lists segments, the groups of contacts that campaigns are sent to, newest first, with the number of members at the last count. preview_segment shows the condition and members of one.',
	annotations: reading,
	input: { search: Type.Optional(Type.String({ description: 'A part of the name.' })) },
	async run({ search = '' }, { pool, project }) {
		const found = await outlineSegments(pool, {
			projectId: project.id,
			pattern: containing(search.trim()),
			limit: mostListed,
		})
		const total = found[0]?.total ?? 0
		const more = total > mostListed ? `; the newest ${mostListed} are listed` : ''
		const segments = found.map((segment) =>
			only(segment, 'id', 'name', 'type', 'memberCount', 'description', 'updatedAt'),
		)
		return {
			text: `${counted(total, 'segment')} found${more}.`,
			data: { segments, total },
		}
	},
})

export const previewSegment = defineTool({
	name: 'preview_segment',
	title: 'Preview a segment or a condition',
	description:
		'With segmentId: the segment with its condition, how many members it has now, and ten of them. With condition: how many contacts match it now, without storing anything; null if counting takes too long. Use it to find out how many people a campaign could reach. Campaigns leave out contacts who have not subscribed or are suppressed; preview_campaign counts without those.',
	annotations: reading,
	input: {
		segmentId: Type.Optional(about('A segment.', Id)),
		condition: Type.Optional(condition('Used if there is no segmentId.')),
	},
	async run({ segmentId, condition }, context) {
		if (segmentId !== undefined) return ofSegment(segmentId, context)
		if (condition === undefined)
			throw invalid({ field: 'segmentId', message: 'or condition is required', code: 'required' })
		const { count } = await context.ask<{ count: number | null }>('POST', '/segments/preview', {
			body: { condition },
		})
		return {
			text:
				count === null
					? 'Counting the contacts that match takes too long.'
					: `${counted(count, 'contact')} ${count === 1 ? 'matches' : 'match'} now.`,
			data: { matching: count },
		}
	},
})

async function ofSegment(id: string, { ask }: ToolContext) {
	const segment = await ask<Segment>('GET', path`/segments/${id}`)
	const members = await ask<Page<Contact>>('GET', path`/segments/${id}/contacts`, {
		query: { pageSize: 10 },
	})
	return {
		text: `The segment has ${counted(members.total, 'member')} now.`,
		data: {
			segment: {
				...only(segment, 'id', 'name', 'description', 'type', 'trackMembership', 'updatedAt'),
				condition: briefData(segment.condition),
			},
			members: members.total,
			some: await viewed(members.data, briefContact),
		},
	}
}
