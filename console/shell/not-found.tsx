import { Link } from '@tanstack/react-router'
import { Empty } from '../parts/empty.tsx'

export const NotFound = () => (
	<Empty title="There is no such page">
		<p>
			The address may be old, or what it showed may be deleted. <Link to="/">Go to the start</Link>
		</p>
	</Empty>
)
