/**
 * Where guests find things. In their own view of files everything has a fixed path; without one (level `restricted`)
 * they see the host's paths, and the run's folder on its disk.
 */
export interface Place {
  /** The run's folder on the host's disk; null if guests have their own view of files. */
  readonly work: string | null
  /** Working folder of guests, and the HOME of runs. */
  readonly workspace: string
  /** The folder for temporary files. */
  readonly temporary: string
}

/**
 * For guests of a sandbox with their own view of files. Files that programs keep here do not mix with the workspace.
 */
export const guestHome = '/home/guest'

/** In a mount namespace. */
export const ownView: Place = { work: null, workspace: '/workspace', temporary: '/tmp' }

/** On the host's own files: `work` is a path that nobody else uses. */
export function hostView(work: string): Place {
  return { work, workspace: `${work}/workspace`, temporary: `${work}/tmp` }
}

/** The path at which guests find what is bound. */
export function pathIn(place: Place, bind: { readonly host: string; readonly guest: string }): string {
  return place.work === null ? bind.guest : bind.host
}
