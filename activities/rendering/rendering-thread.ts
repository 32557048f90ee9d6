import { serve } from '../../mail/threads/serve.ts'
import { renderingTasks } from './rendering-tasks.ts'

serve(renderingTasks)
