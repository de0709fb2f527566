// Signing out, from wherever it is asked for.
import { signOut } from '../session.js';
import { go } from '../router.js';
import { toast } from '../parts/toast.js';

/** Ends the session and goes to the sign-in page; where that fails, says so and stays. */
export async function leave() {
  try {
    await signOut();
    go('/sign-in');
  } catch (error) {
    toast({ state: 'bad', title: 'Not signed out', text: /** @type {Error} */ (error).message });
  }
}
