import { Link } from '@tanstack/react-router'
import type { Template } from '../../client/index.ts'
import { Badge, inWords } from '../parts/badge.tsx'
import { listKeys } from '../parts/list-keys.ts'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './gallery.module.css'
import { TemplateMenu } from './template-menu.tsx'
import { Thumbnail } from './thumbnail.tsx'

/** Templates as pictures of their mails. Arrow keys move between them, Enter opens one. */
export const Gallery = ({ templates }: { templates: Template[] }) => (
	<ul aria-label="Templates" className={styles.gallery} {...listKeys}>
		{templates.map((template) => (
			<Card key={template.id} template={template} />
		))}
	</ul>
)

function Card({ template }: { template: Template }) {
	const { project } = useProject()
	const { id, name, subject, type, updatedAt } = template
	return (
		<li className={styles.card}>
			<Thumbnail template={template} />
			<div className={styles.about}>
				<Link
					to="/console/$projectId/templates/$templateId"
					params={{ projectId: project.id, templateId: id }}
					className={styles.link}
				>
					{name}
				</Link>
				<div className={styles.menu}>
					<TemplateMenu template={template} />
				</div>
				<p className={styles.subject}>{subject}</p>
				<p className={styles.last}>
					<Badge>{inWords(type)}</Badge>
					<Time at={updatedAt} />
				</p>
			</div>
		</li>
	)
}

/** The room of the gallery, so that nothing jumps when it arrives. */
export const GalleryWaiting = () => (
	<div className={styles.gallery} role="status" aria-label="Loading">
		{Array.from({ length: 4 }, (_, card) => (
			<div key={card} className={styles.card} data-waiting />
		))}
	</div>
)
