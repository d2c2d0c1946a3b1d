//! What does a server on HTTP choose, of that which its transport leaves open or forbids? Variants and faults make
//! other choices than these.

/// How requests are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replies {
    /// By one message where that is all there is to say, and by events otherwise.
    AsFits,
    /// Always by events.
    Events,
    /// By one message wherever that is possible; what comes before it is not said.
    Messages,
}

/// Where messages go that belong elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Each to the one stream that it belongs to.
    Proper,
    /// Changes go with whatever request is open.
    ChangesWithRequests,
    /// Changes go to all that listen.
    ChangesToAll,
    /// Progress goes to who listens.
    ProgressToListener,
    /// Replies also go to who listens.
    RepliesToListenerToo,
}

/// The choices of one server.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    pub replies: Replies,
    pub route: Route,
    /// Whether sessions have ids.
    pub sessions: bool,
    /// Whether a GET opens a stream.
    pub listening: bool,
    /// Whether streams of sessions have event ids, by which a client comes back.
    pub resuming: bool,
    /// Whether such a stream begins with an id, where the revision says so.
    pub priming: bool,
    /// Whether a stream ends with its reply.
    pub ending: bool,
    /// Whether a client that comes back gets what was said on all streams.
    pub replaying_all: bool,
    /// Whether a client without a session that leaves has cancelled its request.
    pub noticing: bool,
    /// Whether a client of a session that leaves has cancelled its request, too.
    pub cancelling: bool,
    /// Whether a second stream for one session is refused.
    pub lone_listener: bool,
    /// Whether a request with `_meta` but without the version header is taken for one of an older client.
    pub version_optional: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            replies: Replies::AsFits,
            route: Route::Proper,
            sessions: true,
            listening: true,
            resuming: true,
            priming: true,
            ending: true,
            replaying_all: false,
            noticing: true,
            cancelling: false,
            lone_listener: false,
            version_optional: false,
        }
    }
}
