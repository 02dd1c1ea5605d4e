/** Environment colors: of a cluster, and of elements outside the frame of the window, since dialogs are attached to the page itself. */
import { computed } from 'vue'
import { useSourceStore } from '../stores/source.ts'

type Env = 'PROD' | 'STAGE' | 'DEV' | 'DEMO'
/** Colors of the name of an environment on the window's background. */
const TEXT: Readonly<Record<Env, string>> = {
  PROD: 'var(--env-ink)',
  STAGE: 'var(--watch)',
  DEV: 'var(--accent)',
  DEMO: 'var(--note)',
}
/** Style of an element that names an environment, the same in every place. */
export const envStyle = (env: Env): Readonly<Record<'--env' | '--env-text', string>> => ({
  '--env': `var(--env-${env.toLowerCase()})`,
  '--env-text': TEXT[env],
})

export function useEnv() {
  const source = useSourceStore()
  const env = computed(() => source.frame?.source.env ?? 'DEMO')
  const cluster = computed(() => source.frame?.source.cluster ?? '')
  const style = computed(() => {
    const name = env.value.toLowerCase()
    return { '--env': `var(--env-${name})`, '--env-btn': `var(--env-${name}-btn)` }
  })
  return { env, cluster, style }
}
