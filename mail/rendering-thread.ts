import { serve } from './threads/serve.ts'
import { renderingTasks } from './rendering-tasks.ts'

serve(renderingTasks)
