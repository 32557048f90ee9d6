import type { Contact } from '../../client/index.ts'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { dataText } from './data-text.ts'
import { Subscribed } from './subscribed.tsx'

/** Lists of contacts, with some keys of their data. */
export const contactColumns = (keys: string[]): Column<Contact>[] => [
	{ name: 'Address', cell: ({ email }) => email, width: '2fr' },
	...keys.map((key): Column<Contact> => ({
		name: key,
		cell: ({ data }) => dataText(data[key]),
		isNamedOnPhone: true,
	})),
	{ name: 'Subscription', cell: (contact) => <Subscribed {...contact} />, width: '125px' },
	{
		name: 'Created',
		cell: ({ createdAt }) => <Time at={createdAt} />,
		width: '185px',
		isLeftOutOnPhone: true,
	},
]
