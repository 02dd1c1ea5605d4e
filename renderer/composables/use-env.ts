/** Environment colors for elements outside the frame of the window: dialogs are attached to the page itself. */
import { computed } from 'vue'
import { useSourceStore } from '../stores/source.ts'

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
