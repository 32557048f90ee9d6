import type { Contact } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'

export const Subscribed = ({ subscribed }: Pick<Contact, 'subscribed'>) =>
	subscribed ? <Badge tone="good">Subscribed</Badge> : <Badge>Unsubscribed</Badge>
