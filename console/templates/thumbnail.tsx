import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import type { Template } from '../../client/index.ts'
import { ScaledMail } from '../editor/scaled-mail.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './gallery.module.css'

const width = 600

/** The mail, small. It is rendered when it comes into view. */
export function Thumbnail({ template: { id, updatedAt } }: { template: Template }) {
	const place = useRef<HTMLDivElement>(null)
	const isSeen = useSeen(place)
	const { project, api } = useProject()
	const { data, error } = useQuery({
		queryKey: [project.id, 'templates', 'thumbnail', id, updatedAt],
		queryFn: ({ signal }) => api.templates.preview(id, {}, { signal }),
		staleTime: Infinity,
		enabled: isSeen,
	})
	return (
		<div ref={place} className={styles.picture}>
			{data && isSeen && <ScaledMail html={data.html} width={width} isThumbnail />}
			{error && <p className={styles.none}>No picture: {error.message}</p>}
		</div>
	)
}

/** Whether an element is in view, or has been. */
function useSeen(element: RefObject<HTMLElement | null>) {
	const [isSeen, setSeen] = useState(false)
	useEffect(() => {
		const observer = new IntersectionObserver(
			(entries) => {
				if (!entries.some(({ isIntersecting }) => isIntersecting)) return
				setSeen(true)
				observer.disconnect()
			},
			{ rootMargin: '200px' },
		)
		observer.observe(element.current!)
		return () => observer.disconnect()
	}, [element])
	return isSeen
}
