/** Router; the view is in the hash, because the desktop shell serves one file. */
import { createRouter, createWebHashHistory } from 'vue-router'
import { VIEWS } from '../commands/views.ts'
import { viewParts } from './views.ts'

/** Preloads the views one by one, so that switching is equally fast for all. */
export function loadViewsWhenIdle(): void {
  const waiting = VIEWS.map(({ id }) => viewParts[id].component).filter((c) => typeof c === 'function')
  const next = (): void => {
    const load = waiting.shift()
    // A view that fails to load is requested again when it is opened.
    if (load) void (load as () => Promise<unknown>)().then(whenIdle, whenIdle)
  }
  const whenIdle = (): void => void requestIdleCallback(next, { timeout: 5000 })
  whenIdle()
}

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    ...VIEWS.map(({ id }) => ({
      path: id === 'help' ? '/help/:page?' : `/${id}`,
      name: id,
      component: viewParts[id].component,
    })),
    { path: '/:rest(.*)*', redirect: '/overview' },
  ],
})
