import { createHash, randomBytes } from 'node:crypto'
import multipart from '@fastify/multipart'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { type ImageStore, StorageFault } from '../../outside/storage/image-store.ts'
import { countTry } from '../accounts/throttling.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { imageExtension, type ImageExtension, imageTypes } from './image-type.ts'
import { FileBody, formBytes, readUpload, uploadLimits } from './upload.ts'

const tags = ['uploads']
const maxBytes = 10 * 2 ** 20
const key = /^[0-9a-f]{16}\/[\w-]{22}\.(png|jpg|gif|webp)$/

/** Images for the bodies of mails. They never change, so anyone may cache them. */
const served = {
	'cache-control': 'public, max-age=31536000, immutable',
	'content-security-policy': "default-src 'none'; sandbox",
	'cross-origin-resource-policy': 'cross-origin',
	'content-disposition': 'inline',
}

/** Images are never deleted, so only this keeps a project from filling the storage of all. */
const mostAnHour = 500

interface Options {
	pool: Pool
	images: ImageStore
	publicUrl: string
}

export const uploads: FastifyPluginAsyncTypebox<Options> = async (
	app,
	{ pool, images, publicUrl },
) => {
	await app.register(multipart, { limits: uploadLimits(maxBytes) })

	app.post(
		'/uploads/image',
		{
			bodyLimit: maxBytes + formBytes,
			config: { auth: 'secret key or session', errors: [400, 413, 422] },
			schema: {
				tags,
				summary: 'Upload an image for the bodies of mails',
				description:
					'Takes PNG, JPEG, GIF and WebP, recognised by content. The URL is public and permanent. A project may upload 500 images an hour.',
				consumes: ['multipart/form-data'],
				body: FileBody('image', 'A PNG, JPEG, GIF or WebP image, at most 10 MB.'),
				response: {
					200: Type.Object({
						url: Type.String(),
						key: Type.String(),
						filename: Type.String(),
						contentType: Type.Enum(Object.values(imageTypes)),
						size: Type.Integer(),
					}),
				},
			},
		},
		async (request) => {
			const subject = request.project.publicId
			await countTry(pool, { what: 'image', subject, tries: mostAnHour, seconds: 3600 })
			const { content, filename } = await readUpload(request, 'image', maxBytes)
			const extension = imageExtension(content)
			if (!extension)
				throw invalid({
					field: 'image',
					message: 'must be a PNG, JPEG, GIF or WebP image',
					code: 'custom',
				})
			const contentType = imageTypes[extension]
			const name = `${folderOf(request.project.id)}/${randomBytes(16).toString('base64url')}.${extension}`
			await images.put(name, content, contentType).catch(unavailable)
			const url = `${publicUrl}/uploads/${name}`
			return { url, key: name, filename, contentType, size: content.length }
		},
	)

	app.get(
		'/uploads/*',
		{
			config: { auth: 'none', streamsFile: true },
			schema: {
				tags,
				summary: 'An image',
				params: Type.Object({ '*': Type.String() }),
				hide: true,
			},
		},
		async ({ params: { '*': name } }, reply) => {
			const extension = key.exec(name)?.[1] as ImageExtension | undefined
			const image = extension && (await images.get(name).catch(unavailable))
			if (!image) throw notFound('image', name)
			const { content, bytes } = image
			if (bytes !== undefined) reply.header('content-length', bytes)
			return reply.headers(served).type(imageTypes[extension]).send(content)
		},
	)
}

/** All images of a project are in one folder, separate from other projects. */
const folderOf = (projectId: string) =>
	createHash('sha256').update(`images of ${projectId}`).digest('hex').slice(0, 16)

function unavailable(fault: unknown): never {
	if (!(fault instanceof StorageFault)) throw fault
	throw new ApiError(503, 'EXTERNAL_SERVICE_ERROR', fault.message, {
		cause: fault.cause,
		retryAfterSeconds: 5,
		suggestion:
			'Try again in a moment. The operator of this installation finds the reason in the log.',
	})
}
